import { parentPort, workerData } from 'node:worker_threads';
import { convertPage } from './convert.js';
import { type PageReadOptions, type PageSource, type PageText, PageUnreadable } from './page.js';

export interface PageTask {
  source: PageSource;
  wish: PageReadOptions;
}
export type PageOutcome = { page: PageText } | { unreadable: string; kind: PageUnreadable['kind'] };

const read = async ({ source, wish }: PageTask): Promise<PageOutcome> => {
  try {
    return { page: await convertPage(source, wish) };
  } catch (error) {
    if (error instanceof PageUnreadable) return { unreadable: error.message, kind: error.kind };
    if (error instanceof RangeError) return { unreadable: 'is too complex to read', kind: null };
    throw error;
  }
};

parentPort?.postMessage(await read(workerData));
