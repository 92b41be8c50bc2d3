import { command, on } from '../command.js';
import { serviceOf, startService } from '../daemon/control.js';
import { homeOf } from '../daemon/environment.js';
import { listenFlags, listenWords } from '../daemon/flags.js';
import { runningDaemon } from '../daemon/record.js';
import { duration } from '../times.js';
import { stopAndWait } from './down.js';
import { startAndTell } from './up.js';

export const restart = command({
  name: 'restart',
  summary: 'Stop the daemon in the background and start it again',
  examples: ['', '--port 3006', '--force'],
  flags: { ...listenFlags, force: on('End it hard when it does not end within 30 s') },
  notes: ['It listens where it did, unless told otherwise, and takes the settings of this shell.'],
  seeAlso: 'up, down, status',
  run: async (context, { flags }) => {
    const record = runningDaemon(homeOf(context.flags.home));
    const service = record === null ? serviceOf(context) : null;
    if (service && !(await startService(context, service, { verb: 'restart', flags }))) return;
    if (record) {
      const tookMs = await stopAndWait(context, record, flags.force === true);
      context.out.note(`Stopped in ${duration(tookMs)}.`);
    }
    // A flag that comes again overrides the earlier one.
    await startAndTell(context, [...(record?.flags ?? []), ...listenWords(flags)]);
  },
});
