const CELL = { width: 8.4, height: 18 };
const PAD = 12;

interface Style {
  color: number | null;
  isBold: boolean;
  isDim: boolean;
  isInverse: boolean;
  isUnderlined: boolean;
}
interface Piece extends Style {
  text: string;
  left: number;
}

const PLAIN: Style = {
  color: null,
  isBold: false,
  isDim: false,
  isInverse: false,
  isUnderlined: false,
};

/** The eight colours of the desk, on light and dark backgrounds. */
const LIGHT = [
  '#24292f',
  '#b3202a',
  '#1a7f37',
  '#8a5a00',
  '#0a58c0',
  '#8430b8',
  '#0b6e76',
  '#57606a',
];
const DARK = [
  '#e6edf3',
  '#ff7b72',
  '#5fd37a',
  '#e3b341',
  '#79b8ff',
  '#d2a8ff',
  '#56d4dd',
  '#9da7b3',
];

/**
 * Output of `tmux capture-pane -e -p` as a picture with real text. Its colours follow the reader's
 * colour scheme.
 */
export const svgOf = (captured: string, title: string, columns: number): string => {
  const lines = captured.replace(/\n+$/, '').split('\n');
  const width = Math.ceil(columns * CELL.width + 2 * PAD);
  const height = lines.length * CELL.height + 2 * PAD;
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${rulesOf()}</style>`,
    `<rect class="ground" width="${width}" height="${height}" rx="8"/>`,
    ...lines.flatMap((line, at) => piecesOf(line).flatMap((piece) => drawn(piece, at))),
    '</svg>',
  ].join('\n')}\n`;
};

const rulesOf = (): string => {
  const colors = (of: string[]): string => of.map((color, at) => `.c${at}{fill:${color}}`).join('');
  const on = (ground: string, of: string[]): string =>
    `.ground,.on{fill:${ground}}text,.mark{fill:${of[0]}}${colors(of)}text.on{fill:${ground}}`;
  return (
    'text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}' +
    `.b{font-weight:bold}.u{text-decoration:underline}.d{opacity:.65}${on('#ffffff', LIGHT)}` +
    `@media(prefers-color-scheme:dark){${on('#0d1117', DARK)}}`
  );
};

const drawn = ({ text, left, ...style }: Piece, row: number): string[] => {
  const x = round(PAD + left * CELL.width);
  const top = PAD + row * CELL.height;
  const wide = round([...text].length * CELL.width);
  const names = [
    style.isInverse ? 'on' : style.color !== null && `c${style.color}`,
    style.isBold && 'b',
    style.isDim && 'd',
    style.isUnderlined && 'u',
  ].filter(Boolean);
  const mark = `<rect class="mark" x="${x}" y="${top}" width="${wide}" height="${CELL.height}"/>`;
  const kind = names.length > 0 ? ` class="${names.join(' ')}"` : '';
  const place = `x="${x}" y="${top + 13.5}" textLength="${wide}"`;
  const words = `<text${kind} ${place} xml:space="preserve">${escaped(text)}</text>`;
  return text.trim() === '' && !style.isInverse ? [] : [...(style.isInverse ? [mark] : []), words];
};

/** Parts of a line with the same look, split at more than one space. */
const piecesOf = (line: string): Piece[] => {
  const pieces: Piece[] = [];
  let style = PLAIN;
  let left = 0;
  for (const [, codes, text] of line.matchAll(/\u001b\[([\d;]*)m|([^\u001b]+)/g)) {
    if (text === undefined) {
      style = styled(style, codes ?? '');
      continue;
    }
    for (const word of style.isInverse ? [text] : text.split(/( {2,})/)) {
      if (word !== '') pieces.push({ ...style, text: word, left });
      left += [...word].length;
    }
  }
  return pieces;
};

const LOOKS: Record<number, Partial<Style>> = {
  0: PLAIN,
  1: { isBold: true },
  2: { isDim: true },
  4: { isUnderlined: true },
  7: { isInverse: true },
  22: { isBold: false, isDim: false },
  24: { isUnderlined: false },
  27: { isInverse: false },
  39: { color: null },
};

const styled = (before: Style, codes: string): Style => {
  const style = { ...before };
  for (const code of codes.split(';').map(Number)) {
    const isColor = code >= 30 && code <= 37;
    Object.assign(style, isColor ? { color: code - 30 } : (LOOKS[code] ?? {}));
  }
  return style;
};

const round = (value: number): number => Math.round(value * 10) / 10;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
