import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { InvalidSkill, readSkillFile } from '../../src/skills/frontmatter.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('readSkillFile', () => {
  const why = (source: string): string => {
    try {
      return JSON.stringify(readSkillFile(source));
    } catch (error) {
      if (error instanceof InvalidSkill) return error.message;
      throw error;
    }
  };

  it('reads anything in time that grows with its length alone', () => {
    for (const piece of ['a: b\n', ' \n', '"', "'", '\\"', '- - ', '&a *a ', 'a:\n  b\n']) {
      const since = performance.now();
      why(`---\nname: a\ndescription: "${piece.repeat(30_000)}\n---\n`);
      why(`---\n${piece.repeat(30_000)}`);
      expect(performance.now() - since < 1_000, piece).to.be.true();
    }
  });
});
