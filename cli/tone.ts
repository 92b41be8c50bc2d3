import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** Tones by word; the word itself always says the meaning too. */
const tones: Record<string, Style> = {
  error: 'red',
  failed: 'red',
  failing: 'red',
  expired: 'red',
  down: 'red',
  interrupted: 'red',
  stopped: 'yellow',
  warn: 'yellow',
  due: 'yellow',
  unknown: 'yellow',
  paused: 'yellow',
  waiting_approval: 'yellow',
  disabled: 'yellow',
  unverified: 'yellow',
  untrusted: 'magenta',
  running: 'cyan',
  success: 'green',
  completed: 'green',
  ok: 'green',
  verified: 'green',
  new: 'bold',
};

/** A state in its colour, which its first word tells; for a terminal that has colours. */
export const colored = (text: string): string => {
  const style = tones[/^\w+/.exec(text)?.[0] ?? ''];
  return style ? styleText(style, text, { validateStream: false }) : text;
};
