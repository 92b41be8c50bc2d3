interface FlowedLine {
  depth: number;
  text: string;
  isFlowed: boolean;
}

const SIGNATURE = '-- ';

/** Joins the lines of paragraphs, also of quoted ones (RFC 3676, 4). */
export const joinFlowedLines = (text: string, deletesSpace: boolean): string => {
  const joined: FlowedLine[] = [];
  for (const line of text.split('\n').map(parseFlowedLine)) {
    const last = joined.at(-1);
    if (last?.isFlowed && last.depth === line.depth && line.text !== SIGNATURE) {
      last.text = (deletesSpace ? last.text.slice(0, -1) : last.text) + line.text;
      last.isFlowed = line.isFlowed;
    } else joined.push(line);
  }
  return joined
    .map(({ depth, text: line }) => (depth > 0 ? `${'>'.repeat(depth)} ${line}` : line))
    .join('\n');
};

const parseFlowedLine = (line: string): FlowedLine => {
  const depth = /^>*/.exec(line)?.[0].length ?? 0;
  const text = line.slice(line[depth] === ' ' ? depth + 1 : depth);
  return { depth, text, isFlowed: text.endsWith(' ') && text !== SIGNATURE };
};
