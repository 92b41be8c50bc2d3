import { parentPort, workerData } from 'node:worker_threads';
import { type PageSource, textOfPage } from './page.js';

/** The file that the thread of `textOfPageApart` runs: it reads one page and ends. */
const page: PageSource = workerData;
parentPort?.postMessage(textOfPage(page));
