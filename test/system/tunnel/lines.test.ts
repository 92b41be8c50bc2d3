import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createLines } from '../../../src/system/tunnel/lines.js';
import { frozenClock } from '../../harness/app.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('the lines of a tunnel’s program', () => {
  it('are the newest 200, without the secret', () => {
    const lines = createLines(frozenClock());
    lines.hide('s3cret');
    for (let number = 0; number < 300; number++) lines.add(`${number} s3cret s3cret`);
    lines.add('   ');
    const all = lines.all();
    expect(all.length).to.equal(200);
    expect(all.at(-1)).to.equal({
      at: '2026-03-01T12:00:00.000Z',
      line: '299 [secret] [secret]',
    });
  });
});
