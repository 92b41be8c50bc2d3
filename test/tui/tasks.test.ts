import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { TaskView } from '../../src/client/index.js';
import { taskPage } from '../../tui/screens/tasks/task.js';
import { loaders } from '../../tui/state/loaders.js';
import { taskJump } from '../../tui/state/places.js';
import { known } from './fixtures.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('a task on the desk', () => {
  it('is read when it was opened from a place that has read no tasks', async () => {
    const state = known([{ type: 'ui.went', ...taskJump('task_01') }]);
    expect(taskPage.needs(state)[0]).to.equal({ is: 'list', list: 'tasks', of: 'task_01' });
    const asked: unknown[] = [];
    const get = async (input: unknown): Promise<Partial<TaskView>> => {
      asked.push(input);
      return { id: 'task_01' };
    };
    const client = { tasks: { get } } as unknown as Parameters<typeof loaders.tasks.page>[0];
    const { rows } = await loaders.tasks.page(client, { of: 'task_01', cursor: undefined });
    expect(rows.map(({ id }) => id)).to.equal(['task_01']);
    expect(asked).to.equal([{ id: 'task_01' }]);
  });
});
