// One contender in this process, for `alternateApart`. usage: node contender.js MODULE NAME OPTIONS
import {warmUp} from './measure.js';

const [module, name, options] = process.argv.slice(2);
const {contender} = await import(module);
const work = await contender(name);
const sample = work && (await warmUp(work, JSON.parse(options)));
process.on('message', async () => process.send({ms: await sample()}));
process.once('disconnect', () => process.exit(0));
process.send({isThere: work !== undefined});
