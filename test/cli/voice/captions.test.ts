import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { CliFault } from '../../../cli/exit.js';
import { formatCaptions } from '../../../cli/voice/captions.js';
import { captionForm } from '../../../cli/voice/transcription.js';

export const lab = Lab.script();
const { describe, it } = lab;

const TALK = {
  durationSeconds: 3725.5,
  text: 'good morning to all',
  segments: [
    { start: 0.08, end: 1.5, text: 'good\n\nmorning' },
    { start: 3661.25, end: 3725.5, text: 'to --> all' },
  ],
};

describe('the captions of a transcription', () => {
  it('are not printed as JSON, but may be written to files', () => {
    expect(captionForm({ srt: true }, 'tsv')).to.equal('srt');
    expect(captionForm({ vtt: true, beside: true }, 'json')).to.equal('vtt');
    expect(() => captionForm({ srt: true }, 'json')).to.throw(
      CliFault,
      /^--srt cannot be combined/,
    );
  });

  it('are SubRip or WebVTT', () => {
    expect(formatCaptions('srt', TALK)).to.equal(
      '1\n00:00:00,080 --> 00:00:01,500\ngood morning\n\n2\n01:01:01,250 --> 01:02:05,500\nto → all\n',
    );
    expect(formatCaptions('vtt', { ...TALK, segments: [] })).to.equal(
      'WEBVTT\n\n00:00:00.000 --> 01:02:05.500\ngood morning to all\n',
    );
  });
});
