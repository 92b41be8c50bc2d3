import { zip } from '../documents/zip.js';

const TYPES = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

const relations = (targets: Record<string, string>): string => {
  const all = Object.entries(targets).map(
    ([target, type], at) =>
      `<Relationship Id="r${at}" Type="${TYPES}/${type}" Target="${target}"/>`,
  );
  return `<Relationships>${all.join('')}</Relationships>`;
};

interface OfficePackage {
  main: string;
  parts: Record<string, string>;
  /** Types of the targets of a part, by its path. Their ids are `r0`, `r1` and so on. */
  related: Record<string, Record<string, string>>;
}

/** A package of office parts. */
export const ooxml = ({ main, parts, related }: OfficePackage): Buffer =>
  zip([
    { name: '_rels/.rels', content: relations({ [main]: 'officeDocument' }) },
    ...Object.entries(related).map(([path, targets]) => ({
      name: path.replace(/([^/]*)$/, '_rels/$1.rels'),
      content: relations(targets),
    })),
    ...Object.entries(parts).map(([name, content]) => ({ name, content })),
  ]);

/** A workbook of one sheet with these rows, and what follows them. */
export const workbook = (rows: string, after = ''): Buffer =>
  zip([
    { name: '_rels/.rels', content: relations({ 'xl/workbook.xml': 'officeDocument' }) },
    { name: 'xl/_rels/workbook.xml.rels', content: relations({ 'sheet1.xml': 'worksheet' }) },
    {
      name: 'xl/workbook.xml',
      content: `<workbook xmlns:r="${TYPES}"><sheets><sheet name="S" sheetId="1" r:id="r0"/></sheets></workbook>`,
    },
    {
      name: 'xl/sheet1.xml',
      content: `<worksheet><sheetData>${rows}</sheetData>${after}</worksheet>`,
    },
  ]);

/** Further parts of a Word document. */
interface LetterParts {
  styles?: string;
  numbering?: string;
  /** Pictures, by their names. */
  pictures?: Record<string, Buffer>;
  /** Contents of headers and footers, by names such as `header1`. */
  edges?: Record<string, string>;
  title?: string;
}

/** A Word document with this body. */
export const letter = (
  body: string,
  { styles = '', numbering = '', pictures = {}, edges = {}, title = '' }: LetterParts = {},
): Buffer => {
  const named = Object.entries(pictures);
  const media = Object.fromEntries(named.map(([name]) => [`media/${name}`, 'image']));
  const edgeNames = Object.keys(edges).map((name) => [`${name}.xml`, name.replace(/\d+$/, '')]);
  const parts = {
    ...{ 'styles.xml': 'styles', 'numbering.xml': 'numbering', ...media },
    ...Object.fromEntries(edgeNames),
  };
  return zip([
    {
      name: '_rels/.rels',
      content: relations({ 'word/document.xml': 'officeDocument', 'core.xml': 'core-properties' }),
    },
    {
      name: 'core.xml',
      content: `<cp:coreProperties><dc:title>${title}</dc:title></cp:coreProperties>`,
    },
    { name: 'word/_rels/document.xml.rels', content: relations(parts) },
    { name: 'word/document.xml', content: `<w:document><w:body>${body}</w:body></w:document>` },
    { name: 'word/styles.xml', content: `<w:styles>${styles}</w:styles>` },
    { name: 'word/numbering.xml', content: `<w:numbering>${numbering}</w:numbering>` },
    ...named.map(([name, content]) => ({ name: `word/media/${name}`, content })),
    ...Object.entries(edges).map(([name, content]) => ({
      name: `word/${name}.xml`,
      content: `<w:hdr>${content}</w:hdr>`,
    })),
  ]);
};

export const run = (text: string, properties = ''): string =>
  `<w:r><w:rPr>${properties}</w:rPr><w:t>${text}</w:t></w:r>`;

export const paragraph = (content: string, properties = ''): string =>
  `<w:p><w:pPr>${properties}</w:pPr>${content}</w:p>`;

/** A paragraph of a list, at a level from 0. */
export const listed = (text: string, level: number, list = 1): string =>
  paragraph(run(text), `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${list}"/></w:numPr>`);

/** A character of a font of symbols. */
export const symbol = (code: string, font = 'Wingdings'): string =>
  `<w:r><w:sym w:font="${font}" w:char="${code}"/></w:r>`;

/** A level of a list: its text, its format and the number with which it begins. */
export const level = (at: number, text: string, format = 'decimal', start = 1): string =>
  `<w:lvl w:ilvl="${at}"><w:start w:val="${start}"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/></w:lvl>`;

/** A numbering of one list with these levels; further lists of the same levels by their numbers. */
export const numbering = (levels: string[], ...others: string[]): string =>
  `<w:abstractNum w:abstractNumId="0">${levels.join('')}</w:abstractNum>` +
  `<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>${others.join('')}`;

/** A document of OpenDocument with this body and these automatic styles. */
export const odf = (
  kind: 'text' | 'spreadsheet',
  body: string,
  styles = '',
  /** Content of the page style. */
  page = '',
  title = '',
): Buffer =>
  zip([
    { name: 'mimetype', content: `application/vnd.oasis.opendocument.${kind}` },
    {
      name: 'meta.xml',
      content: `<office:document-meta><office:meta><dc:title>${title}</dc:title></office:meta></office:document-meta>`,
    },
    {
      name: 'content.xml',
      content: `<office:document-content><office:automatic-styles>${styles}</office:automatic-styles><office:body><office:${kind}>${body}</office:${kind}></office:body></office:document-content>`,
    },
    {
      name: 'styles.xml',
      content: `<office:document-styles><office:master-styles><style:master-page>${page}</style:master-page></office:master-styles></office:document-styles>`,
    },
  ]);

/** A flat document of OpenDocument with this body and this content of the page style. */
export const flatOdf = (kind: 'text' | 'spreadsheet', body: string, page = ''): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<office:document office:mimetype="application/vnd.oasis.opendocument.${kind}"><office:master-styles><style:master-page>${page}</style:master-page></office:master-styles><office:body><office:${kind}>${body}</office:${kind}></office:body></office:document>`;
