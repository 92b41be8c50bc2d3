/** The forms in which the content of a page can be given. */
export type PageFormat = 'markdown' | 'text' | 'html';

export type PageKind = 'article' | 'page' | 'pdf' | 'feed' | 'text' | 'json' | 'image' | 'office';

/** A page as it was received. */
export interface PageSource {
  body: Uint8Array;
  /** The header Content-Type; '' without one. */
  contentType: string;
  /** The address that sent it, after all redirects. */
  url: string;
}

/** The form in which a page is wanted. */
export interface PageWish {
  format: PageFormat;
  /** True: all that is visible, with menus and footers; false: the article, if the page is one. */
  isWhole: boolean;
  /** True if links in text are followed by their addresses. */
  hasAddresses: boolean;
  /** The most characters of the content; what is beyond is cut. */
  most: number;
}

export interface PageLink {
  text: string;
  url: string;
}

/** The facts that a page states about itself, without what nobody sees. */
export interface PageFacts {
  title: string | null;
  byline: string | null;
  siteName: string | null;
  /** The time in ISO 8601. */
  publishedAt: string | null;
  /** The language as BCP 47. */
  language: string | null;
  excerpt: string | null;
  canonicalUrl: string | null;
}

/** A page as it is read. */
export interface PageText extends PageFacts {
  kind: PageKind;
  /** The content; null if the kind has none. */
  content: string | null;
  contentFormat: PageFormat | null;
  isTruncated: boolean;
  words: number;
  links: PageLink[];
  /** What the content lacks, as a sentence; null if nothing is known to be missing. */
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

/** The error of a page that cannot be read. The message goes on where its address ends. */
export class PageUnreadable extends Error {
  override name = 'PageUnreadable';

  constructor(
    message: string,
    /** The kind of the page, as far as it is known. */
    readonly kind: PageKind | null = null,
  ) {
    super(message);
  }
}
