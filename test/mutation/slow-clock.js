// Mutated code runs with a switch at every expression, on a machine that may be busy: what a test of speed
// says of it means nothing. Here a second lasts twenty.
const now = performance.now.bind(performance);

performance.now = () => now() / 20;
