import * as Lab from '@hapi/lab';
import { openForSuite } from '../harness/suite.js';
import { startShellStage, stopDeafShell } from './deafshell.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('stopping an agent whose shell runs', () => {
  const stage = openForSuite(lab, startShellStage);

  const skip = process.platform === 'linux' ? {} : { skip: true };

  it('ends the program and all that it started', skip, () =>
    stopDeafShell(stage, (stop) => stop()),
  );
});
