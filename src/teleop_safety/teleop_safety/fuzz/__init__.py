"""A fuzzer of the guard's core: any messages in any order, judged by an oracle that shares no code with the guard."""
