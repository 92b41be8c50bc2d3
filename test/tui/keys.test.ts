import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  actForKey,
  type Binding,
  bindings,
  fieldVerbForKey,
  findKeyConflicts,
  moveForKey,
  sheetVerbForKey,
} from '../../tui/keys.js';
import { pageNames } from '../../tui/state/locations.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('keys', () => {
  it('means one thing by each key', () => {
    expect(findKeyConflicts(bindings)).to.equal([]);
  });

  it('sees a letter with two meanings on two pages', () => {
    const wrong: Binding[] = [
      { scope: 'hooks', keys: ['p'], verb: 'pause', text: 'disable' },
      { scope: 'vault', keys: ['p'], verb: 'publish', text: 'publish' },
    ];
    expect(findKeyConflicts(wrong)).to.equal(['p: pause (hooks), publish (vault)']);
  });

  it('sees a letter that counts everywhere already', () => {
    const wrong: Binding[] = [
      { scope: 'everywhere', keys: ['j'], verb: 'down', text: 'down' },
      { scope: 'hooks', keys: ['j'], verb: 'down', text: 'jump' },
    ];
    expect(findKeyConflicts(wrong)).to.not.be.empty();
  });

  it('never says yes by enter, space or escape', () => {
    expect(['y', 'enter', 'esc', 'n', 'space'].map(sheetVerbForKey)).to.equal([
      'yes',
      'no',
      'no',
      'no',
      undefined,
    ]);
  });

  it('approves where a whole call, or what a stage asks, is shown, and nowhere else', () => {
    expect(pageNames.filter((page) => actForKey(page, 'A') !== undefined)).to.equal([
      'approvals',
      'run',
    ]);
  });

  it('finds what a key means', () => {
    expect([
      moveForKey('down'),
      moveForKey('j'),
      moveForKey('A'),
      fieldVerbForKey('ctrl-w'),
    ]).to.equal(['down', 'down', undefined, 'cut-word']);
  });
});
