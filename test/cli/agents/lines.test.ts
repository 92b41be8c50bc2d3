import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { eventLines, eventRow } from '../../../cli/agents/tail.js';

export const lab = Lab.script();
const { describe, it } = lab;

const status = (data: Record<string, unknown>) => ({
  id: 7,
  type: 'agent.status' as const,
  agentId: 'agent_1',
  data,
  at: '2026-03-01T12:00:00.000Z',
});

describe('eventLines', () => {
  it('says for whom an agent waits, whatever they are called', () => {
    const waitingFor = [{ id: 'agent_2', name: 'writer-1' }, { name: 'x\u001b[2J' }, null];
    const event = status({ status: 'running', waitingFor });
    expect(eventRow(event)).to.equal(
      '7\t2026-03-01T12:00:00.000Z\tagent.status\twaiting for writer-1, x\\x1b[2J, ',
    );
    const [line = ''] = eventLines(event, 80);
    expect(line).to.endWith('status    waiting for writer-1, x\\x1b[2J, ');
    expect(eventRow(status({ status: 'running', waitingFor: [] }))).to.endWith('\trunning');
  });

  it('says which model answered, and why others were passed over', () => {
    const passedOver = [{ model: 'talk', because: 'the prompt is too long' }];
    const data = { content: 'Hello', model: 'house', passedOver };
    const event = { ...status({}), type: 'agent.message' as const, data };
    const [, note = ''] = eventLines(event, 120);
    expect(note.trim()).to.equal('-- talk: the prompt is too long. house answered. --');
  });
});
