import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { crud } from '../../cli/crud.js';
import { contracts } from '../../src/client/index.js';

const { list, get } = await contracts.hooks();

export const lab = Lab.script();
const { describe, it } = lab;

const hooks = crud({
  noun: 'hook',
  argument: 'which',
  rows: 'hooks',
  path: 'my hooks',
  endpoints: { list, get },
  columns: [],
  named: (hook) => hook,
});

describe('the verbs that are alike', () => {
  it('follow from the endpoints', () => {
    const { name, args, calls, summary } = hooks.get({ examples: [] });
    expect({ name, args, calls, summary }).to.equal({
      ...{ name: 'get', args: '<which>', calls: [get], summary: get.summary },
    });
  });

  it('are refused where the contract has no endpoint', () => {
    const options = { examples: [], ask: () => 'Sure?' };
    expect(() => hooks.delete(options)).to.throw(TypeError, 'No such endpoint for hooks');
    expect(() => hooks.end({ ...options, message: 'Gone.' })).to.throw(TypeError);
    expect(() => hooks.update({ examples: [] })).to.throw(TypeError);
  });
});
