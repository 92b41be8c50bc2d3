import type { Http } from '../../kernel/http.js';
import type { ReadPage } from './apart.js';
import { createPageClient, type PageAsker, type PageClient, PageFailed } from './request.js';
import { createRobots } from './robots.js';

/** The functions that get pages and that read them. */
export interface PageAccess {
  /** Gets a page that a person asks for. */
  getPage: PageClient;
  /** Gets a page for a program: from hosts that allow it alone, also where a redirect leads on. */
  getAllowedPage: PageClient;
  /** Throws PageFailed if the host of an address wants no program to read it (RFC 9309). */
  refuseUnlessAllowed(url: string, signal: AbortSignal): Promise<void>;
  readPage: ReadPage;
}

interface PageAccessDeps {
  http: Pick<Http, 'request'>;
  now(): number;
  readPage: ReadPage;
}

/** Creates the functions. Together they ask each host once a second at most. */
export const createPageAccess = ({ http, now, readPage }: PageAccessDeps): PageAccess => {
  const getPage = createPageClient(http);
  const robots = createRobots(getPage, now);

  const refuseUnlessAllowed = async (url: string, signal: AbortSignal): Promise<void> => {
    const refusal = await robots(url, signal);
    if (refusal !== null) throw new PageFailed(refusal, null, url);
  };

  return {
    getPage,
    getAllowedPage: (url, asker: PageAsker) => {
      const refuse = (each: string): Promise<void> => refuseUnlessAllowed(each, asker.signal);
      return getPage(url, { ...asker, refuse });
    },
    refuseUnlessAllowed,
    readPage,
  };
};
