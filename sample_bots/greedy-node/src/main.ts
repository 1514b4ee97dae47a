// The plumbing between the arena and choose: a gRPC server at ARENA_ADDRESS, for one arena.

import * as grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

import type { Answer } from '../build/types/arena/sixtysix/v1/Answer.js';
import type { BotServiceHandlers } from '../build/types/arena/sixtysix/v1/BotService.js';
import type { Decision__Output as Decision } from '../build/types/arena/sixtysix/v1/Decision.js';
import type { Rules__Output as Rules } from '../build/types/arena/sixtysix/v1/Rules.js';
import type { ProtoGrpcType } from '../build/types/bot.js';
import { choose, type Match } from './choose.js';

const address = process.env.ARENA_ADDRESS;
if (address === undefined) {
  console.error('this is a bot, which an arena starts (ARENA_ADDRESS is not set)');
  process.exit(2);
}

const server = new grpc.Server();
let rules: Rules; // for life: the arena calls Describe once, before Play

const handlers: BotServiceHandlers = {
  Describe(call, callback) {
    rules = call.request.rules!;
    callback(null, {
      protocolMajor: 1,
      name: 'greedy-node',
      version: '1.0',
      plays: true,
      waivesBeforeDraw: true, // it always goes on before the draw, so that it need not be asked there
    });
  },

  // Every decision of a message is answered in one message.
  Play(call) {
    const matches = new Map<string, Match>(); // many are played at once
    call.on('data', ({ events }) => {
      const answers: Answer[] = [];
      for (const { matchStarted, decision, matchEnded } of events) {
        if (matchStarted) matches.set(matchStarted.matchId, { rules, started: matchStarted });
        else if (decision) answers.push(answer(matches.get(decision.matchId)!, decision));
        else if (matchEnded) matches.delete(matchEnded.matchId);
      }
      if (answers.length > 0) call.write({ answers });
    });
    call.on('end', () => {
      call.end();
      server.tryShutdown(() => {});
    });
  },
};

/** Lets choose decide; if that throws, the arena is told why, and the process goes on. */
function answer(match: Match, decision: Decision): Answer {
  try {
    return { id: decision.id, action: choose(match, decision) };
  } catch (error) {
    return { id: decision.id, error: error instanceof Error ? error.stack : String(error) };
  }
}

const loaded = loadSync('arena/sixtysix/v1/bot.proto', { includeDirs: ['proto'], defaults: true, oneofs: true });
const { arena } = grpc.loadPackageDefinition(loaded) as unknown as ProtoGrpcType;
server.addService(arena.sixtysix.v1.BotService.service, handlers);
server.bindAsync(address, grpc.ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
});
process.on('SIGTERM', () => server.forceShutdown());
process.on('SIGINT', () => server.forceShutdown());
