import type { Context } from '../../command.js';
import { getSenderSettings, type HookSender, senders } from './form.js';

const COLUMNS = 3;
const WIDTH = 26;
/** Triggers of hooks without a sender, listed after the senders. */
const others = ['schedule', 'email'] as const;
const OTHERS = { schedule: 'a schedule', email: 'an e-mail' };

export type HookSource = HookSender | (typeof others)[number];

export const askSender = async ({ ask }: Context, instead: string): Promise<HookSource> => {
  const labels = [
    ...senders.map((sender) => getSenderSettings(sender).label),
    ...others.map((other) => OTHERS[other]),
  ];
  const cells = labels.map((label, at) => `${String(at + 1).padStart(2)} ${label}`.padEnd(WIDTH));
  const rows = Math.ceil(cells.length / COLUMNS);
  for (let row = 0; row < rows; row += 1) {
    const line = cells.filter((_, at) => at % rows === row).join('');
    ask.say(`  ${line.trimEnd()}`);
  }
  const typed = await ask.text({
    ask: 'Sender (number or name)',
    initial: '1',
    instead,
    refuse: (input) =>
      findSenderIndex(input, labels) === -1
        ? `Enter a number from 1 to ${labels.length}, or a name.`
        : undefined,
  });
  return [...senders, ...others][findSenderIndex(typed, labels)] ?? 'other';
};

/** Index in the list, or -1. */
const findSenderIndex = (input: string, labels: string[]): number => {
  if (/^\d+$/.test(input)) return labels[Number(input) - 1] === undefined ? -1 : Number(input) - 1;
  const word = input.toLowerCase();
  const names: string[] = [...senders, ...others];
  const named = names.indexOf(word);
  return named === -1 ? labels.findIndex((label) => label.toLowerCase() === word) : named;
};
