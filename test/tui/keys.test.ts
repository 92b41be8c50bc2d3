import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  actOf,
  type Binding,
  bindings,
  conflictsIn,
  fieldVerbOf,
  moveOf,
  sheetVerbOf,
} from '../../tui/keys.js';
import { pageNames } from '../../tui/state/places.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('keys', () => {
  it('means one thing by each key', () => {
    expect(conflictsIn(bindings)).to.equal([]);
  });

  it('sees a letter with two meanings on two pages', () => {
    const wrong: Binding[] = [
      { scope: 'hooks', keys: ['p'], verb: 'pause', text: 'disable' },
      { scope: 'vault', keys: ['p'], verb: 'publish', text: 'publish' },
    ];
    expect(conflictsIn(wrong)).to.equal(['p: pause (hooks), publish (vault)']);
  });

  it('sees a letter that counts everywhere already', () => {
    const wrong: Binding[] = [
      { scope: 'everywhere', keys: ['j'], verb: 'down', text: 'down' },
      { scope: 'hooks', keys: ['j'], verb: 'down', text: 'jump' },
    ];
    expect(conflictsIn(wrong)).to.not.be.empty();
  });

  it('never says yes by enter, space or escape', () => {
    expect(['y', 'enter', 'esc', 'n', 'space'].map(sheetVerbOf)).to.equal([
      'yes',
      'no',
      'no',
      'no',
      undefined,
    ]);
  });

  it('approves where a whole call, or what a stage asks, is shown, and nowhere else', () => {
    expect(pageNames.filter((page) => actOf(page, 'A') !== undefined)).to.equal([
      'approvals',
      'run',
    ]);
  });

  it('finds what a key means', () => {
    expect([moveOf('down'), moveOf('j'), moveOf('A'), fieldVerbOf('ctrl-w')]).to.equal([
      'down',
      'down',
      undefined,
      'cut-word',
    ]);
  });
});
