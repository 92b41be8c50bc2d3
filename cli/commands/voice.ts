import type { CommandGroup } from '../command.js';
import { safe } from '../text.js';
import { transcribeCommand } from '../voice/transcribe.js';
import {
  captionFlags,
  captionForm,
  showTranscription,
  voiceCrud,
  voiceEndpoints,
} from '../voice/transcription.js';

export const voiceGroup: CommandGroup = {
  commands: [
    transcribeCommand,
    voiceCrud.list({
      examples: ['', '--status failed', '--json'],
      next: (rows) =>
        rows.length === 0
          ? 'No transcriptions yet. Transcribe a file: adjutant voice transcribe <file>'
          : undefined,
    }),
    voiceCrud.request({
      name: 'get',
      args: '<transcription>',
      endpoint: voiceEndpoints.get,
      flags: captionFlags,
      examples: ['4ew6rt', '4ew6rt --srt > talk.srt', '4ew6rt --json'],
      show: (context, transcription, { flags }) =>
        showTranscription(context, transcription, captionForm(flags, context.out.format)),
    }),
    voiceCrud.request({
      name: 'cancel',
      args: '<transcription>',
      endpoint: voiceEndpoints.cancel,
      examples: ['4ew6rt', '4ew6rt --json', '4ew6rt --output id'],
      say: ({ out }, { id, filename }) => {
        if (out.format === 'id') out.line(id);
        else out.note(`Cancelled: ${safe(filename ?? id)}`);
      },
    }),
    voiceCrud.delete({
      several: true,
      examples: [
        '4ew6rt',
        '4ew6rt 9k2a5v --yes',
        'voice list --status failed --output id | xargs -n1 adjutant voice delete --yes',
      ],
      ask: ({ filename, id }) => `Delete ${safe(filename ?? id)} and its text?`,
    }),
  ],
  notes: ['Identify a transcription by its id, or the last six characters of the id.'],
};
