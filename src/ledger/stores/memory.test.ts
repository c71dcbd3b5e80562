import { storeCases } from '../store.cases.ts';
import { memoryStore } from './memory.ts';

storeCases('memory', (clock) => memoryStore({ clock }));
