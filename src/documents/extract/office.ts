import { type OfficeContentNode, OfficeParser, type OfficeParserAST } from 'officeparser';
import { checkArchive, refuseEncrypted } from './archive.js';
import { ExtractFailed, type Extraction } from './job.js';

/** OpenDocument presentations and RTF files. Each slide is a page. */
export const extractOffice = async (bytes: Buffer, extraction: Extraction): Promise<void> => {
  refuseEncrypted(bytes);
  if (bytes.subarray(0, 2).toString('latin1') === 'PK') {
    await checkArchive(bytes, extraction.job.limits.unpackedBytes);
  }
  const { content, toText } = await parse(bytes);
  const parts = content.filter(({ type }) => type === 'slide');
  if (parts.length === 0) {
    extraction.total(1);
    if (!extraction.skip()) extraction.add(toText());
    return;
  }
  extraction.total(parts.length);
  for (const part of parts) {
    if (extraction.skip()) continue;
    if (!extraction.add(linesOf(part).join('\n'))) break;
  }
};

/** The parser logs errors, which are suppressed. */
const parse = async (bytes: Buffer): Promise<OfficeParserAST> => {
  try {
    return await OfficeParser.parseOffice(withoutFallbacks(bytes), {
      outputErrorToConsole: false,
      newlineDelimiter: '\n',
    });
  } catch (error) {
    console.error(error);
    const sentence = 'The file is not a complete office document';
    throw new ExtractFailed('damaged', sentence);
  }
};

/**
 * Removes the fallback characters of Unicode escapes in RTF (RTF 1.9.1, `\\u` and `\\uc`), which
 * officeparser would add to the text.
 */
const withoutFallbacks = (bytes: Buffer): Buffer => {
  if (bytes.subarray(0, 5).toString('latin1') !== '{\\rtf') return bytes;
  const text = bytes.toString('latin1');
  return Buffer.from(text.replace(/(\\u-?\d+) ?(?:\\'[0-9a-f]{2}|\?)/gi, '$1 '), 'latin1');
};

const linesOf = (node: OfficeContentNode): string[] => {
  if (node.type === 'row') {
    return [(node.children ?? []).map((cell) => linesOf(cell).join(' ')).join('\t')];
  }
  if (node.children === undefined || node.children.every(({ type }) => type === 'text')) {
    return [node.text ?? ''];
  }
  return node.children.flatMap(linesOf);
};
