export type PageFormat = 'markdown' | 'text' | 'html';

export type PageKind = 'article' | 'page' | 'pdf' | 'feed' | 'text' | 'json' | 'image' | 'office';

export interface PageSource {
  body: Uint8Array;
  contentType: string;
  /** Address after all redirects. */
  url: string;
}

export interface PageReadOptions {
  format: PageFormat;
  /** True for all visible content, false for the article if there is one. */
  isWhole: boolean;
  /** Whether the address follows each link in text. */
  hasAddresses: boolean;
  most: number;
}

export interface PageLink {
  text: string;
  url: string;
}

export interface PageFacts {
  title: string | null;
  byline: string | null;
  siteName: string | null;
  publishedAt: string | null;
  language: string | null;
  excerpt: string | null;
  canonicalUrl: string | null;
}

export interface PageText extends PageFacts {
  kind: PageKind;
  content: string | null;
  contentFormat: PageFormat | null;
  isTruncated: boolean;
  words: number;
  links: PageLink[];
  /** What is missing from the content. `null` if nothing is known to be missing. */
  note: string | null;
}

export const NO_FACTS: PageFacts = {
  title: null,
  byline: null,
  siteName: null,
  publishedAt: null,
  language: null,
  excerpt: null,
  canonicalUrl: null,
};

/** The message completes a sentence that starts with the address. */
export class PageUnreadable extends Error {
  override name = 'PageUnreadable';

  constructor(
    message: string,
    readonly kind: PageKind | null = null,
  ) {
    super(message);
  }

  /** The cause and the next step, in sentences about the page. */
  describe(subject: string): string {
    return `${subject} ${this.message}. Use another page, or upload its content as a document`;
  }
}
