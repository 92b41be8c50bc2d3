import type { ModelView } from '../../src/client/index.js';
import type { Flag } from '../command.js';
import { usageFault } from '../exit.js';

/** One flag for all parts of the price. */
export const priceFlag: Flag<ModelView['price']> = {
  value: '<in,out>',
  about:
    'Price in USD per million input and output tokens, such as 3,15. An optional third number is the price per minute of transcribed audio. none: no price',
  read: (input): ModelView['price'] => {
    if (input === 'none') return null;
    const [inputPerMTok = Number.NaN, outputPerMTok = Number.NaN, minute, ...more] = input
      .split(',')
      .map((each) => (each.trim() === '' ? Number.NaN : Number(each)));
    const areAmounts = inputPerMTok >= 0 && outputPerMTok >= 0 && (minute ?? 0) >= 0;
    if (more.length > 0 || !areAmounts) {
      throw usageFault(
        `--price must be the USD per million input and output tokens, such as 3,15, with an optional third number for the USD per minute of audio, or none (got "${input}")`,
      );
    }
    return { inputPerMTok, outputPerMTok, ...(minute !== undefined && { perMinuteUsd: minute }) };
  },
};
