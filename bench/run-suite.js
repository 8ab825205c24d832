// One suite in this process; its report goes to the parent. usage: see run.js
const [name, rounds] = process.argv.slice(2);
const {measure} = await import(`./suites/${name}.js`);
const report = await measure({rounds: Number(rounds)});
process.send(report, () => process.exit(0));
