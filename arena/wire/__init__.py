"""The wire: values of the game to protobuf messages and back.  The one room that knows the generated code."""
