package desktop

import "path/filepath"

// gpuDevices are what programs draw through; a machine with none of them has no GPU for them.
var gpuDevices = [...]string{"/dev/dri/renderD*", "/dev/nvidiactl", "/dev/dxg", "/dev/mali*", "/dev/kgsl-3d0", "/dev/pvr*"}

func hasGPU() bool {
	for _, pattern := range gpuDevices {
		if found, err := filepath.Glob(pattern); err != nil || len(found) > 0 {
			return true
		}
	}
	return false
}
