/** A file whose text is to be extracted, and how. */
export interface ExtractJob {
  /** The absolute path of the file. */
  path: string;
  mediaType: string;
  /** Tesseract's codes of the languages that are recognized: `['eng', 'deu']`. */
  languages: string[];
  /** The folder of capabilities, with the languages that were added; missing: none were. */
  addedLanguages?: string;
  /** The number of the first page that is wanted; pages before it were extracted earlier. */
  fromPage: number;
  /** The password of an encrypted file. */
  password: string | null;
  limits: ExtractLimits;
}

export interface ExtractLimits {
  /** The most pages, and the most of them that are recognized from their picture. */
  pages: number;
  ocrPages: number;
  /** The most pixels of a picture. */
  pixels: number;
  /** The most characters of a page, and of all pages. */
  pageChars: number;
  chars: number;
  /** The longest time to recognize one page, in milliseconds. */
  ocrMs: number;
  /** The most bytes that the files within a file may have, unpacked. */
  unpackedBytes: number;
}

/** The text of one page. */
export interface ExtractedPage {
  /** Counted from 1. */
  page: number;
  text: string;
  /** True if the text was recognized from a picture. */
  ocr: boolean;
  /** The confidence of the recognition from 0 to 100; null if nothing was recognized. */
  confidence: number | null;
}

/** Reasons for which nothing could be extracted. */
export type ExtractCode = 'password_needed' | 'damaged' | 'too_large' | 'unsupported';

/** One line that the extracting process writes. The last one has `end` or `failed`. */
export type ExtractLine =
  | ExtractedPage
  | { pages: number }
  | { end: { notes: string[] } }
  | { failed: { code: ExtractCode; message: string } };

/** The error of a file from which nothing can be extracted. */
export class ExtractFailed extends Error {
  constructor(
    readonly code: ExtractCode,
    message: string,
  ) {
    super(message);
  }
}

/** The work on one file, as the extractor of its kind sees it. */
export interface Extraction {
  job: ExtractJob;
  /** Tells how many pages the file has. */
  total(pages: number): void;
  /**
   * Writes the text of the next page; one that was extracted earlier is left out. Returns false if
   * no further page is wanted.
   */
  add(text: string, recognized?: RecognizedText): boolean;
  /** Adds a page whose text cannot be read, which is told with the number of the page. */
  addUnread(): boolean;
  /** True if the next page was extracted earlier; it is then counted, and not extracted again. */
  skip(): boolean;
  /** Remembers a sentence about what is missing. Repeated ones are told once. */
  note(sentence: string): void;
  /** Recognizes the text of a picture in PNG or JPEG format; null once there were too many. */
  recognize(picture: Buffer): Promise<RecognizedText | null>;
}

export interface RecognizedText {
  text: string;
  confidence: number;
}
