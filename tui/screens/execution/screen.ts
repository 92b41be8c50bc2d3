import type { Page } from '../../page.js';
import { lookOf } from '../../state/ui.js';
import { agentOf, replay, shownExecution } from '../hooks/slice.js';
import { executionHead, executionText, executionView } from './view.js';

export const executionPage: Page = {
  name: 'execution',
  root: 'hooks',
  title: 'Execution',
  tabs: ['Timeline', 'Payload', 'Result'],
  text: executionText,
  textHeight: (_, { height }) => height - 3,
  related: (state) => agentOf(shownExecution(state)),
  acts: (state) => {
    const run = shownExecution(state);
    return run ? { replay: replay(run) } : {};
  },
  needs: ({ ui }) => [{ is: 'list', list: 'executions', of: lookOf(ui).of ?? null, everyMs: 5000 }],
  view: executionView,
  head: executionHead,
};
