import { tryTemplates } from './fixtures/try-template.js';

tryTemplates(['python', 'node', 'go']);
