import { ExtractFailed, type Extraction } from './job.js';
import { MEDIA_TYPES } from './kinds.js';

type Extractor = (bytes: Buffer, extraction: Extraction) => Promise<void>;

/** Maximum nesting of messages. */
const MAX_DEPTH = 2;

export const loadExtractor = async (mediaType: string, depth = 0): Promise<Extractor> => {
  const { family } = MEDIA_TYPES[mediaType] ?? {};
  switch (family) {
    case 'pdf':
      return (await import('./pdf.js')).extractPdf;
    case 'picture':
      if (mediaType === 'image/tiff') return (await import('./tiff.js')).extractTiff;
      return (await import('./picture.js')).extractPicture;
    case 'office':
      if (mediaType.endsWith('.document')) return (await import('./docx.js')).extractDocx;
      if (mediaType.endsWith('.sheet')) return (await import('./xlsx.js')).extractXlsx;
      if (/\.opendocument\.text(-flat-xml)?$/.test(mediaType))
        return (await import('./odt.js')).extractOdt;
      if (/\.spreadsheet(-flat-xml)?$/.test(mediaType))
        return (await import('./ods.js')).extractOds;
      if (mediaType.endsWith('ml.presentation')) return (await import('./pptx.js')).extractPptx;
      return (await import('./office.js')).extractOffice;
    case 'book':
      return (await import('./epub.js')).extractEpub;
    case 'html':
      return (await import('./text.js')).extractHtml;
    case 'text':
      return (await import('./text.js')).textExtractor(mediaType);
    case 'mail': {
      const { mailExtractor } = await import('./mail.js');
      return mailExtractor(async (bytes, nested, extraction) => {
        if (depth >= MAX_DEPTH)
          throw new ExtractFailed(
            'unsupported',
            'The e-mail is nested too deeply. Upload the nested e-mails separately',
          );
        const extract = await loadExtractor(nested, depth + 1);
        await extract(bytes, extraction);
      });
    }
    default:
      throw new ExtractFailed('unsupported', `Unsupported file type: ${mediaType}`);
  }
};
