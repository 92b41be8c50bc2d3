import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { notifyTools } from '../../src/tools/notify.js';
import { contextOf, failureOf } from './context.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('notify.send', () => {
  const told: unknown[][] = [];
  const group = notifyTools(async (...told_) => {
    told.push(told_);
    return true;
  });
  const run = async (args: unknown) => group.tools[0]?.run(Object(args), contextOf());

  it('tells the owner, with the effect id and a title', async () => {
    const results = [await run({ message: 'Done', title: 'Build' }), await run({ message: 'So' })];
    expect(results).to.equal([{ notified: true }, { notified: true }]);
    const of = { markdown: undefined, effectId: 'effect_1', agentId: 'agent_1', hops: undefined };
    expect(told).to.equal([
      ['user_1', { title: 'Build', body: 'Done', ...of }],
      ['user_1', { title: 'A message from Adjutant', body: 'So', ...of }],
    ]);
  });

  it('refuses a message that is missing, empty or too long', async () => {
    const messages = await Promise.all(
      [{}, { message: '' }, { message: 'x'.repeat(4_001) }, []].map(
        async (args) => (await failureOf(run(args))).message,
      ),
    );
    expect(messages).to.equal([
      'notify.send: message is required',
      'notify.send: message is not allowed to be empty',
      'notify.send: message length must be less than or equal to 4000 characters long',
      'notify.send: the arguments must be of type object',
    ]);
  });
});
