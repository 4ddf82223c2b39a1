// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// The least smart-contract wallet: one owner, whose signature over a hash is the wallet's (ERC-1271).
contract SmartWallet {
    address public immutable owner;

    constructor(address owner_) {
        owner = owner_;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        if (signature.length != 65) return 0xffffffff;
        bytes32 r = bytes32(signature[0:32]);
        bytes32 s = bytes32(signature[32:64]);
        return ecrecover(hash, uint8(signature[64]), r, s) == owner ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }

    function execute(address to, bytes calldata data) external {
        require(msg.sender == owner, "owner");
        (bool done,) = to.call(data);
        require(done, "call");
    }
}

/// Makes wallets at addresses that are known before they exist (ERC-6492 needs that).
contract WalletFactory {
    function create(address owner, uint256 salt) external returns (address) {
        address wallet = predict(owner, salt);
        return wallet.code.length > 0 ? wallet : address(new SmartWallet{salt: bytes32(salt)}(owner));
    }

    function predict(address owner, uint256 salt) public view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(SmartWallet).creationCode, abi.encode(owner)));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), bytes32(salt), code)))));
    }
}
