import type { PageSource } from './page.js';

/** The forms of a page by which it is read; `xml` may be a feed. */
export type SourceForm =
  | 'html'
  | 'xml'
  | 'feed'
  | 'json'
  | 'text'
  | 'image'
  | 'pdf'
  | 'office'
  | 'unknown';

const BY_TYPE: [RegExp, SourceForm][] = [
  [/^(text\/html|application\/xhtml\+xml)$/, 'html'],
  [/^application\/((rss|atom|rdf)\+xml|feed\+json)$/, 'feed'],
  [/^application\/([a-z0-9.-]+\+)?pdf$/, 'pdf'],
  [/^image\//, 'image'],
  [/^(text|application)\/([a-z0-9.-]+\+)?json$/, 'json'],
  [/^(text|application)\/([a-z0-9.-]+\+)?xml$/, 'xml'],
  [
    /^(application\/(vnd\.(openxmlformats-officedocument|oasis\.opendocument|ms-(excel|word|powerpoint))[a-z0-9.+-]*|msword|rtf|epub\+zip)|text\/rtf)$/,
    'office',
  ],
  [/^(text\/|application\/(x-)?(javascript|yaml|toml|sh|ndjson|jsonlines)$)/, 'text'],
];

/** The beginnings by which a page without a usable content-type is told. */
const BY_BYTES: [RegExp, SourceForm][] = [
  [/^%PDF-/, 'pdf'],
  [/^(\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a|RIFF....WEBP)/s, 'image'],
  [/^(PK\x03\x04.{26}(\[Content_Types\]|mimetype|_rels)|\xd0\xcf\x11\xe0|\{\\rtf)/s, 'office'],
  [/^\s*<(\?xml|rss|feed|rdf:RDF)[\s>]/, 'xml'],
  [/^\s*<(!doctype\s+html|!--|[a-z][a-z0-9]*[\s>])/i, 'html'],
];
/** Bytes that no text has. */
const NO_TEXT = /[\0-\x08\x0e-\x1a\x1c-\x1f]/;

const TEXTS = new Set<SourceForm>(['html', 'xml', 'feed', 'json', 'text']);
/** Ours: so many controls among the first bytes are no mistake in a text. */
const MOST_CONTROLS = 10;

/** True if a page that says it is text is none, as an archive or a program is. */
const isBinary = (head: string, contentType: string): boolean =>
  !/utf-?16|ucs-?2/i.test(contentType) &&
  !/^(\xff\xfe|\xfe\xff)/.test(head) &&
  (head.match(new RegExp(NO_TEXT, 'g'))?.length ?? 0) > MOST_CONTROLS;

/** Returns the form of a page, by its content-type; without a usable one by its first bytes. */
export const formOf = ({ body, contentType }: PageSource): SourceForm => {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const head = Buffer.from(body.subarray(0, 1024)).toString('latin1');
  if (head.startsWith('%PDF-')) return 'pdf';
  const known = BY_TYPE.find(([pattern]) => pattern.test(type))?.[1];
  if (known && TEXTS.has(known) && isBinary(head, contentType)) return 'unknown';
  if (known) return known;
  if (type !== '' && type !== 'application/octet-stream') return 'unknown';
  const told = BY_BYTES.find(([pattern]) => pattern.test(head.replace(/^\xef\xbb\xbf/, '')))?.[1];
  return told ?? (NO_TEXT.test(head) ? 'unknown' : 'text');
};

/** True if an XML document is a feed: RSS, Atom or RDF. */
export const isFeed = (xml: string): boolean =>
  /^\s*(<\?[^>]*>\s*|<!--[\s\S]{0,2000}?-->\s*|<![^>]{0,500}>\s*)*<(rss|feed|rdf:RDF)[\s>]/.test(
    xml.slice(0, 10_000).replace(/^\ufeff/, ''),
  );
