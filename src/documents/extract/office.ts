import { type OfficeContentNode, OfficeParser, type OfficeParserAST } from 'officeparser';
import { checkArchive, refuseEncrypted } from './archive.js';
import { noteHidden } from './docxruns.js';
import { joinTexts } from './drawings.js';
import { ExtractFailed, type Extraction } from './job.js';
import { withoutHidden } from './rtfhidden.js';

/** OpenDocument presentations and RTF files. Each slide is a page. */
export const extractOffice = async (bytes: Buffer, extraction: Extraction): Promise<void> => {
  refuseEncrypted(bytes);
  if (bytes.subarray(0, 2).toString('latin1') === 'PK') {
    await checkArchive(bytes, extraction.job.limits.unpackedBytes);
  }
  const { bytes: visible, hiddenChars } = withoutHidden(bytes);
  noteHidden(extraction, hiddenChars);
  const { content, auxiliary, metadata } = await parse(visible);
  extraction.title(metadata?.title ?? (await rtfTitle(bytes)));
  const parts = content.filter(({ type }) => type === 'slide');
  if (parts.length === 0) {
    extraction.total(1);
    const body = content.flatMap(toTextLines).join('\n');
    const texts = [edgeText(auxiliary?.headers), body, edgeText(auxiliary?.footers)];
    if (!extraction.skip()) extraction.add(joinTexts(texts));
    return;
  }
  extraction.total(parts.length);
  for (const part of parts) {
    if (extraction.skip()) continue;
    if (!extraction.add(toTextLines(part).join('\n'))) break;
  }
};

/** The title of an RTF file is text of the same form, and the parser skips it. */
const rtfTitle = async (bytes: Buffer): Promise<string | null> => {
  const head = bytes.toString('latin1', 0, MAX_INFO_AT);
  const title = RTF_TITLE.exec(head)?.[1];
  if (title === undefined) return null;
  const codePage = /\\ansicpg\d+/.exec(head)?.[0] ?? '';
  const { content } = await parse(Buffer.from(`{\\rtf1\\ansi${codePage} ${title}}`, 'latin1'));
  return content.flatMap(toTextLines).join(' ');
};

const MAX_INFO_AT = 1024 * 1024;
const RTF_TITLE = /\{\\info\b[\s\S]{0,4000}?\{\\title\b((?:[^{}\\]|\\[\s\S])*)\}/;

/** Sections often repeat a header or footer. Each line is returned once. */
const edgeText = (nodes: OfficeContentNode[] = []): string =>
  [...new Set(nodes.flatMap(toTextLines))].join('\n').trim();

/** The parser logs errors, which are suppressed. */
const parse = async (bytes: Buffer): Promise<OfficeParserAST> => {
  try {
    return await OfficeParser.parseOffice(bytes, { newlineDelimiter: '\n' });
  } catch (error) {
    console.error(error);
    const sentence = 'The file is not a complete office document';
    throw new ExtractFailed('damaged', sentence);
  }
};

const toTextLines = (node: OfficeContentNode): string[] => {
  const children = node.children ?? [];
  if (node.type === 'row') {
    return [children.map((cell) => toTextLines(cell).join(' ')).join('\t')];
  }
  const isText = children.every(({ type }) => type === 'text');
  const lines = isText ? [node.text ?? ''] : children.flatMap(toTextLines);
  const notes = (isText ? [node, ...children] : [node]).flatMap((each) => each.notes ?? []);
  return [...lines, ...notes.flatMap(toTextLines)];
};
