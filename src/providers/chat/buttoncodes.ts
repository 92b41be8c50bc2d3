import { type ButtonChoice, buttonDecision } from './buttonscopes.js';
import type { ButtonEvent, PlatformQuestion } from './platform.js';

const LETTERS: Record<ButtonChoice, string> = {
  approve: 'y',
  deny: 'n',
  conversation: 'c',
  host: 'h',
};
const CHOICES: ButtonChoice[] = ['approve', 'deny', 'conversation', 'host'];

type ButtonDecision = Pick<ButtonEvent, 'approvalId' | 'digest' | 'approved' | 'scope'>;

/**
 * Button data for platforms with short limits: a letter for the choice, the approval id, and the
 * first digits of its digest.
 */
export const buttonCodes = (digits: number) => {
  const form = new RegExp(`^([ynch]):(\\w{1,40}):([0-9a-f]{${digits}})$`);
  return {
    write: ({ approvalId, digest }: PlatformQuestion, choice: ButtonChoice): string =>
      `${LETTERS[choice]}:${approvalId}:${digest.slice(0, digits)}`,
    /** null if it is not one of our buttons. */
    read: (data: string): ButtonDecision | null => {
      const [, letter, approvalId, digest] = form.exec(data) ?? [];
      const choice = CHOICES.find((each) => LETTERS[each] === letter);
      if (!choice || !approvalId || !digest) return null;
      return { approvalId, digest, ...buttonDecision(choice) };
    },
  };
};
