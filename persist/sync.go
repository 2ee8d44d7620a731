package persist

import "runtime"

// Sync returns when every key whose Add had returned before, in any process, is on
// the disk and safe against a power cut. It takes as long as the disk does to write
// all parts of the file that have changed; adds, other Syncs and Close may go on
// meanwhile. After an error nothing is known to be on the disk. The error wraps
// [ErrReadOnly] if the file was opened read-only: only who may write to it can have it
// written to the disk on every system.
//
// Without Sync the operating system writes changes within about half a minute, in
// an order of its own. A power cut then loses some of the keys that were added
// since the last Sync, but it damages nothing: all bits of the others are there.
func (f *File) Sync() error {
	m, err := f.beginSync()
	if err != nil {
		return err
	}
	defer f.endSync()
	err = flush(f.file, m.data)
	runtime.KeepAlive(m)
	return failed("Sync", f.path, err)
}

// beginSync keeps the file open until endSync.
func (f *File) beginSync() (*mapping, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.mapping.Load()
	if m == nil || m.readOnly {
		return nil, f.failure("Sync")
	}
	f.syncs++
	return m, nil
}

// endSync closes the file if Close has left that to the last Sync.
func (f *File) endSync() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.syncs--; f.syncs == 0 && f.mapping.Load() == nil {
		_ = f.file.Close() // Close has returned, and the data is on the disk
	}
}

// Close ends the use of the file. It waits for no operation and disturbs none, and
// it does not write to the disk: call Sync before, if the keys must survive a power
// cut. The second Close returns an error that wraps os.ErrClosed.
//
// The address space, and the disk's of a file that was removed, is given back by
// the garbage collector once no operation is using it, usually within two minutes.
// On Windows the file cannot be removed before.
//
// A File that is forgotten without Close is closed by the garbage collector.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mapping.Load() == nil {
		return f.failure("Close")
	}
	f.mapping.Store(nil)
	if f.syncs > 0 {
		return nil // the last of them closes it
	}
	return failed("close", f.path, f.file.Close())
}
