import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { speedText } from '../../../cli/capabilities/machine.js';

export const lab = Lab.script();
const { describe, it } = lab;

type Speed = Parameters<typeof speedText>[0];

describe('the speed of a model', () => {
  it('has a sign once its measurements vary by more than 15 %', () => {
    const textOf = (spread: number): string => speedText(measured(spread));
    expect([textOf(0.15), textOf(0.16)]).to.equal(['40 tok/s', '40 tok/s ±8 %']);
  });
});

const measured = (spread: number): Speed => ({
  tokensPerSecond: { unit: 'written', estimated: 12, measured: { median: 40, spread } },
});
