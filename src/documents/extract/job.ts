export interface ExtractJob {
  path: string;
  mediaType: string;
  /** Tesseract codes: `['eng', 'deu']`. */
  languages: string[];
  addedLanguages?: string;
  /** First requested page. Earlier pages are already extracted. */
  fromPage: number;
  password: string | null;
  limits: ExtractLimits;
}

export interface ExtractLimits {
  pages: number;
  ocrPages: number;
  pixels: number;
  pageChars: number;
  chars: number;
  /** Maximum time for the recognition of a page, in milliseconds. */
  ocrMs: number;
  /** Maximum unpacked size of the files within a file. */
  unpackedBytes: number;
}

export interface ExtractedPage {
  page: number;
  text: string;
  ocr: boolean;
  /** 0 to 100. `null` without text recognition. */
  confidence: number | null;
}

export type ExtractCode = 'password_needed' | 'damaged' | 'too_large' | 'unsupported';

/** The last line has `end` or `failed`. */
export type ExtractLine =
  | ExtractedPage
  | { pages: number }
  | { end: { notes: string[] } }
  | { failed: { code: ExtractCode; message: string } };

export class ExtractFailed extends Error {
  constructor(
    readonly code: ExtractCode,
    message: string,
  ) {
    super(message);
  }
}

export interface Extraction {
  job: ExtractJob;
  total(pages: number): void;
  /** Title that the file states. It precedes the next page unless the page contains it. */
  title(text: string | null | undefined): void;
  /**
   * Writes the next page, unless it was extracted earlier. Returns false if no further page is
   * needed.
   */
  add(text: string, recognized?: RecognizedText): boolean;
  /** Adds a page without readable text, which is reported. */
  addUnread(): boolean;
  /** True if the next page was extracted earlier. It is then counted. */
  skip(): boolean;
  /** Repeated notes are reported once. */
  note(sentence: string): void;
  /** Recognizes a PNG or JPEG image. Resolves to null after too many images. */
  recognize(picture: Buffer): Promise<RecognizedText | null>;
}

export interface RecognizedText {
  text: string;
  confidence: number;
}
