Feature: The capabilities of a manifest
  What the extension asks for.

  @0.1 @0.2 @0.3 @0.4
  Scenario Outline: Nothing is wrong with <what>
    When a host reads the manifest
    Then nothing breaks the rule about <what>

    @MAN-CAP-001
    Examples:
      | what                 |
      | the filesystem grant |

    @MAN-CAP-002
    Examples:
      | what              |
      | the process grant |

    @MAN-CAP-003
    Examples:
      | what              |
      | the network grant |

    @MAN-CAP-004
    Examples:
      | what        |
      | the secrets |

  @0.2 @0.3 @0.4
  Scenario Outline: Nothing is wrong with <what>
    When a host reads the manifest
    Then nothing breaks the rule about <what>

    @MAN-CAP-006
    Examples:
      | what                   |
      | the brokered variables |

  @0.1
  Scenario Outline: Nothing is wrong with <what>
    When a host reads the manifest
    Then nothing breaks the rule about <what>

    @MAN-CAP-007
    Examples:
      | what                                       |
      | brokered variables on an API that has none |
