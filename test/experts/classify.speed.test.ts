import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { SYSTEM_EXPERTS } from '../../src/experts/builtin.js';
import { chooseByKeywords } from '../../src/experts/classify.js';
import type { Expert } from '../../src/experts/expert.js';

export const lab = Lab.script();
const { describe, it } = lab;

const made = (name: string, keywords: string[] = []): Expert => ({
  ...SYSTEM_EXPERTS[0],
  id: `expert_${name}`,
  name,
  keywords,
});

describe('chooseByKeywords', () => {
  it('reads a task of a megabyte in no time', () => {
    const since = performance.now();
    const experts = Array.from({ length: 106 }, (_, n) =>
      made(
        `e${n}`,
        Array.from({ length: 100 }, (__, k) => `word${k} phrase${n}`),
      ),
    );
    chooseByKeywords('word1 phrase2 '.repeat(75_000), experts);
    expect(performance.now() - since).to.be.below(500);
  });
});
