# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The processors the lab can be, what they stand for and what they must cost.

MODELS="cortex-a57 cortex-a57-gicv2 neoverse-n1 neoverse-v1 max max-nvhe max-mte"

# model_set MODEL: sets CPU MACHINE MODEL_APPEND QEMU_KIND RANGE FWB
model_set() {
	MACHINE='virt,virtualization=on,gic-version=3' MODEL_APPEND='' QEMU_KIND=system RANGE=0 FWB=0
	case $1 in
	cortex-a57) CPU=cortex-a57 ;;
	cortex-a57-gicv2) CPU=cortex-a57 MACHINE='virt,virtualization=on,gic-version=2' ;;
	neoverse-n1) CPU=neoverse-n1 ;;
	neoverse-v1) CPU=neoverse-v1 QEMU_KIND=new FWB=1 ;;
	max) CPU='max,pauth-impdef=on' RANGE=1 FWB=1 ;;
	max-nvhe) CPU='max,pauth-impdef=on' MODEL_APPEND='kvm-arm.mode=nvhe' RANGE=1 FWB=1 ;;
	max-mte) CPU='max,pauth-impdef=on' MACHINE="$MACHINE,mte=on" RANGE=1 FWB=1 ;;
	*) die "model '$1': expected one of $MODELS" ;;
	esac
}

model_about() {
	case $1 in
	cortex-a57) echo "nVHE, no TLBIRANGE, no FWB; first generation" ;;
	cortex-a57-gicv2) echo "as cortex-a57, with a GICv2 and its GICV page" ;;
	neoverse-n1) echo "VHE, no TLBIRANGE, no FWB; Graviton2 / Altra class" ;;
	neoverse-v1) echo "VHE, FWB, no TLBIRANGE; Graviton3 class (newer QEMU)" ;;
	max) echo "VHE, TLBIRANGE, FWB; Neoverse V2 / N2 class" ;;
	max-nvhe) echo "as max, kvm-arm.mode=nvhe" ;;
	max-mte) echo "as max, with MTE" ;;
	esac
}

# Can this machine be that model? Prints why not.
model_missing() {
	model_set "$1"
	if [ "$QEMU_KIND" = new ] && [ ! -f "$CACHE/qemu-new/ok" ]; then
		echo "no newer QEMU on this machine"
	fi
}

# The QEMU command of the current QEMU_KIND in the array QEMU, its plugin API in QEMU_API.
qemu_set() {
	if [ "$QEMU_KIND" = new ]; then
		QEMU=(env "LD_LIBRARY_PATH=$(new_qemu_libs)" "$CACHE/qemu-new/root/usr/bin/qemu-system-aarch64"
			-L "$CACHE/qemu-new/root/usr/share/qemu")
		QEMU_API=4
	else
		need qemu-system-aarch64 qemu-system-arm
		QEMU=(qemu-system-aarch64)
		QEMU_API=1
	fi
}
