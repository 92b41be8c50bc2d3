import type { ReadPage } from './pageworker.js';
import {
  createPageClient,
  type PageClient,
  type PageClientDeps,
  PageFailed,
  type PageRequester,
} from './request.js';
import { createRobots } from './robots.js';

export interface PageAccess {
  getPage: PageClient;
  /** Only from hosts whose robots.txt allows it, also after redirects. */
  getAllowedPage: PageClient;
  /** Throws PageFailed if robots.txt disallows the address (RFC 9309). */
  refuseUnlessAllowed(url: string, signal: AbortSignal): Promise<void>;
  readPage: ReadPage;
}

interface PageAccessDeps extends PageClientDeps {
  readPage: ReadPage;
}

/** All functions share the limit of one request per second and host. */
export const createPageAccess = ({ http, clock, readPage }: PageAccessDeps): PageAccess => {
  const getPage = createPageClient({ http, clock });
  const robots = createRobots(getPage, clock.now);

  const refuseUnlessAllowed = async (url: string, signal: AbortSignal): Promise<void> => {
    const refusal = await robots(url, signal);
    if (refusal !== null) throw new PageFailed(refusal, null, url);
  };

  return {
    getPage,
    getAllowedPage: (url, asker: PageRequester) => {
      const refuse = (each: string): Promise<void> => refuseUnlessAllowed(each, asker.signal);
      return getPage(url, { ...asker, refuse });
    },
    refuseUnlessAllowed,
    readPage,
  };
};
