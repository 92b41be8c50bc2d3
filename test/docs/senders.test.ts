import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { PRESET_NAMES } from '../../src/hooks/senders/presets.js';
import { codeBlocks, readDocument } from '../harness/documents.js';
import { descriptions } from '../hooks/senders/descriptions.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('the senders in docs/hooks.md', () => {
  const document = readDocument('docs/hooks.md');

  it('are all presets, each in a row', () => {
    const rows = [...document.text.matchAll(/^\| [^|]+ \| `([a-z-]+)`[^|]*\|/gm)];
    expect(rows.map(([, name]) => name).sort()).to.equal([...PRESET_NAMES].sort());
  });

  it('are described as the tests verify them', () => {
    const shown = codeBlocks(document).filter(({ language }) => language === 'json');
    expect(shown.map(({ code }) => JSON.parse(code))).to.equal([
      ...[descriptions.paddle, descriptions.zendesk, descriptions.telegram],
    ]);
  });
});
