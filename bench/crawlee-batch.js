// The peer of the suite `batch`: Crawlee's CheerioCrawler, and turndown for what it found; a file a page.
// usage: node crawlee-batch.js LIST DIRECTORY
import {readFileSync} from 'node:fs';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {CheerioCrawler, Configuration, log} from '@crawlee/cheerio';
import TurndownService from 'turndown';

const [list, directory] = process.argv.slice(2);
log.setLevel(log.LEVELS.ERROR);
const turndown = new TurndownService({headingStyle: 'atx', codeBlockStyle: 'fenced'});
let written = 0;
const crawler = new CheerioCrawler(
  {
    // From the first page on: its own scaling would begin with one at a time.
    minConcurrency: 16,
    maxConcurrency: 64,
    maxRequestRetries: 0,
    useSessionPool: false,
    async requestHandler({$}) {
      $('script, style, noscript').remove();
      written += 1;
      await writeFile(join(directory, `${written}.md`), turndown.turndown($('body').html() ?? ''));
    },
  },
  new Configuration({persistStorage: false, systemInfoV2: true}),
);
await crawler.run(readFileSync(list, 'utf8').trim().split('\n'));
