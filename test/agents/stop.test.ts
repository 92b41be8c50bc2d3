import * as Lab from '@hapi/lab';
import { startShellStage, stopDeafShell } from './deafshell.js';
import type { Stage } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('stopping an agent whose shell runs', () => {
  let stage: Stage;
  before(async () => {
    stage = await startShellStage();
  });
  after(() => stage.stop());

  const skip = process.platform === 'linux' ? {} : { skip: true };

  it('ends the program and all that it started', skip, () =>
    stopDeafShell(stage, (stop) => stop()),
  );
});
